<?php
spin(5);
return in_file();
