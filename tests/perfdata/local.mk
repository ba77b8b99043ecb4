# perfdata
