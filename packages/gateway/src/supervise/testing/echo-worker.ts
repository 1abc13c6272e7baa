import { existsSync } from 'node:fs'
import { runWorker } from '../../worker/worker-process.js'
import { EchoPlane } from './echo-plane.js'

/** While this file exists, new workers exit before their first message. */
const crashFlag = process.env['GW_TEST_CRASH_FLAG'] ?? ''
if (crashFlag !== '' && existsSync(crashFlag)) process.exit(9)

runWorker((context) => new EchoPlane(context))
