// What the page does beyond patches: it remembers what the reader opened,
// follows the bottom, ticks, and has keys. It needs only the page, not the client.

import { clock } from './clock'
import { composer } from './composer'
import { copying } from './copy'
import { disclosure } from './disclosure'
import { follow } from './follow'
import { keys } from './keys'
import { title } from './title'

follow()
disclosure()
clock()
composer()
title()
keys()
copying()
