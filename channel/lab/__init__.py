"""The lab: whoever's validators, held against the rules on moves that no honest player makes."""
