import type { CapacityWish } from '@sluice/bench'
import { parseSize } from '@sluice/core'
import { EXIT, Failure } from '../failure.js'
import { print, printValue, say } from '../output/output.js'
import type { OutputOptions } from '../program/building.js'
import { knownPair } from './policy.js'
import { savedSummaries } from './saved-summary.js'
import { toolFailure } from './tool-failure.js'
import type { BenchTools, CapacityText } from './tools.js'

interface CapacityFlags extends OutputOptions {
  readonly rps: number
  readonly body?: string
  readonly policies?: string
  readonly connections?: number
  readonly from?: readonly string[]
}

/** `gw bench capacity`: exits with 1 when the run does not hold what an answer needs. */
export function benchCapacity(tools: BenchTools): (flags: CapacityFlags) => Promise<number> {
  return async ({ rps, body, policies, connections, from = [], output }) => {
    const wish: CapacityWish = {
      perSecond: rps,
      bodyBytes: body === undefined ? null : bytesOf(body),
      policies: (policies ?? '')
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== ''),
      ...(connections === undefined ? {} : { connections }),
    }
    for (const policy of wish.policies) knownPair(policy)
    const saved = await savedSummaries(tools, from)
    if (from.length === 0) say(`from ${saved.map(({ dir }) => dir).join(', ')}`)
    const summaries = saved.map(({ summary }) => summary)
    const answer = answered(() => tools.capacityFor(summaries, wish))
    if (output === 'table') print(...answer.lines)
    else await printValue(answer, output)
    return answer.size === null ? EXIT.failed : EXIT.ok
  }
}

/** Sizes of documents, `5k` for `5kb`, and plain bytes. */
function bytesOf(text: string): number {
  const withUnit = /^\d+$/.test(text) ? `${text}b` : text.replace(/([kmg])$/i, '$1b')
  try {
    return parseSize(withUnit)
  } catch {
    throw new Failure(EXIT.usage, `--body: '${text}' is not a size; write for example 512b or 5kb`)
  }
}

function answered(answer: () => CapacityText): CapacityText {
  try {
    return answer()
  } catch (error) {
    throw toolFailure(error)
  }
}
