# pathmap
