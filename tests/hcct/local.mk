# hcct
