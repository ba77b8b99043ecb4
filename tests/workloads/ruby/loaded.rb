spin(10)
