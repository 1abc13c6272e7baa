import { EXIT, Failure, messageOf } from '../failure.js'
import { print } from '../output/output.js'
import { savedSummary } from './saved-summary.js'
import type { BenchTools } from './tools.js'

/** `gw bench report`: a newer version writes better reports of an old run. */
export function benchReport(tools: BenchTools): (flags: object, path: string) => Promise<number> {
  return async (_flags, path) => {
    const { summary, dir } = await savedSummary(tools, path)
    try {
      print(...(await tools.writeResults(summary, dir)))
    } catch (error) {
      throw new Failure(EXIT.failed, `the reports could not be written to ${dir}: ${messageOf(error)}`)
    }
    return EXIT.ok
  }
}
