import { once } from 'node:events'
import type { OriginWish } from '@sluice/bench'
import { parseDuration, parseSize } from '@sluice/core'
import { untilSignal } from '../commands/until-signal.js'
import { EXIT, Failure, messageOf } from '../failure.js'
import { outliveReader, print } from '../output/output.js'
import { toolFailure } from './tool-failure.js'
import type { BenchTools, RunningOrigin } from './tools.js'

interface UpstreamFlags {
  readonly listen: string
  readonly bytes: string
  readonly echo?: boolean
  readonly delay: string
}

/** `gw bench upstream`: the origin of the benchmarks, until a signal. */
export function benchUpstream(tools: BenchTools): (flags: UpstreamFlags) => Promise<number> {
  return async (flags) => {
    const wish: OriginWish = {
      answer: flags.echo === true ? 'echo' : 'fixed',
      bytes: setting('--bytes', () => parseSize(flags.bytes)),
      delayMs: setting('--delay', () => parseDuration(flags.delay)),
    }
    const { signal } = untilSignal()
    const origin = await started(tools, wish, flags.listen)
    outliveReader()
    print(`origin on ${origin.url}`)
    if (!signal.aborted) await once(signal, 'abort')
    await origin.stop()
    return EXIT.ok
  }
}

async function started(tools: BenchTools, wish: OriginWish, address: string): Promise<RunningOrigin> {
  try {
    return await tools.startOrigin(wish, address)
  } catch (error) {
    throw toolFailure(error)
  }
}

function setting(flag: string, read: () => number): number {
  try {
    return read()
  } catch (error) {
    throw new Failure(EXIT.usage, `${flag}: ${messageOf(error)}`)
  }
}
