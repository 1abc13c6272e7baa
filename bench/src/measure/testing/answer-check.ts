import { bodyOf } from '../../engine/call-body.js'
import type { Engine, LoadOrder } from '../../model/engine.js'
import type { Scenario } from '../../model/scenario.js'

/** A load generator that looks at one whole answer before each load, because load generators count statuses only. */
export interface CheckedEngine {
  readonly engine: Engine
  /** How many answers were looked at. */
  readonly looks: () => number
  /** What was wrong with them, in the order of the looks. */
  readonly wrongAnswers: readonly string[]
}

/** Checks the answers of a load generator's calls against what the origin of their scenario says. */
export function checkedEngine(engine: Engine, scenarios: readonly Scenario[]): CheckedEngine {
  const wrongAnswers: string[] = []
  let looks = 0
  const run: Engine['run'] = async (order) => {
    const scenario = scenarios.find(({ call }) => call === order.call)
    const flaw = scenario === undefined ? 'a call of no scenario' : await answerFlaw(order, scenario)
    looks++
    if (flaw !== null) wrongAnswers.push(flaw)
    return engine.run(order)
  }
  return {
    engine: { ...engine, run },
    looks: () => looks,
    wrongAnswers,
  }
}

async function answerFlaw(
  { origin, call }: LoadOrder,
  { id, origin: wish }: Scenario,
): Promise<string | null> {
  const body = call.body === null ? null : bodyOf(call.body)
  const init = { method: call.method, headers: call.headers, body }
  const answer = await fetch(origin + call.path, { ...init, signal: AbortSignal.timeout(10_000) })
  const bytes = Buffer.from(await answer.arrayBuffer())
  if (answer.status !== 200) return `${id}: status ${answer.status}`
  if (wish.answer === 'echo' && !bytes.equals(body ?? Buffer.alloc(0)))
    return `${id}: ${bytes.length} bytes came back that are not the ${body?.length ?? 0} bytes sent`
  if (wish.answer === 'fixed' && bytes.length !== wish.bytes)
    return `${id}: ${bytes.length} bytes in place of ${wish.bytes}`
  return null
}
