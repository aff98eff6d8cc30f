// The command `vault`: everything is in `runCommand`. A closure written in this file would be on the main
// actor; there is none.

import Glibc

exit(runCommand())
