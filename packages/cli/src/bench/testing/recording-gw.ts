import { main } from '../../main.js'
import { createProgram } from '../../program.js'
import { type Mode, recordingTools } from './recording-tools.js'

/** `gw` with tools that measure nothing; the environment says what they do and where they write down what they were told. */
const { RECORDING_MODE = 'well', RECORDING_FILE = '' } = process.env
await main(
  process.argv,
  createProgram(async () => recordingTools(RECORDING_MODE as Mode, RECORDING_FILE)),
)
