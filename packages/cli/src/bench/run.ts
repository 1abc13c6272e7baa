import { type Suite, urlSuite } from '@sluice/bench'
import { EXIT, Failure } from '../failure.js'
import { type CallFlags, callOf } from './call.js'
import { measure, type Outcome } from './measuring.js'
import { namedSuite } from './named-suite.js'
import {
  type ChoiceFlags,
  chosenSuite,
  type LoadFlags,
  type MeasuringFlags,
  type RunOrder,
  runOrder,
  type TargetFlags,
  USUAL_RATES,
} from './run-order.js'
import type { BenchTools } from './tools.js'
import { trialsOrder } from './trials-order.js'

type RunFlags = LoadFlags & MeasuringFlags & ChoiceFlags & TargetFlags
type QuickFlags = LoadFlags & MeasuringFlags & Pick<ChoiceFlags, 'connections'> & CallFlags & TargetFlags

/** `gw bench run`. */
export function benchRun(tools: BenchTools): (flags: RunFlags, name: string) => Promise<number> {
  return async (flags, name) => {
    const named = namedSuite(name)
    if (named.trials !== undefined) return runTrials(tools, named, flags)
    const suite = chosenSuite(named, flags)
    const order = runOrder(tools, suite, flags, flags.quick === true ? [] : USUAL_RATES)
    return measure(tools, order, { ...outcomeOf(flags), isKept: true })
  }
}

function runTrials(tools: BenchTools, suite: Suite, flags: RunFlags): Promise<number> {
  return measure(tools, trialsOrder(tools, suite, flags), { ...outcomeOf(flags), isKept: true })
}

/**
 * `gw bench quick`: the smoke suite, or a call of a server that is running. Nobody needs its figures tomorrow, so they are
 * written only where `--out` says.
 */
export function benchQuick(tools: BenchTools): (flags: QuickFlags, url?: string) => Promise<number> {
  return async (flags, url) => {
    const order = url === undefined ? smokeOrder(tools, flags) : urlOrder(tools, flags, url)
    return measure(tools, order, { ...outcomeOf(flags), isKept: flags.out !== undefined })
  }
}

function smokeOrder(tools: BenchTools, flags: QuickFlags): RunOrder {
  const own = ['method', 'header', 'data', 'body', 'pid'] as const
  const alone = own.find((name) => flags[name] !== undefined)
  if (alone !== undefined)
    throw new Failure(
      EXIT.usage,
      `--${alone} is for a URL; write it behind the command, such as http://127.0.0.1:8080/`,
    )
  return runOrder(tools, chosenSuite(namedSuite('smoke'), flags), flags, [])
}

function urlOrder(tools: BenchTools, flags: QuickFlags, url: string): RunOrder {
  if (flags.with !== undefined)
    throw new Failure(
      EXIT.usage,
      '--with stands beside a gateway of our own: use gw bench run SUITE --target ADDRESS',
    )
  const { origin, call } = callOf(url, flags)
  return runOrder(tools, chosenSuite(urlSuite(call), flags), { ...flags, target: origin }, [])
}

/** What becomes of the results, as far as the options say. */
export function outcomeOf(flags: LoadFlags): Omit<Outcome, 'isKept'> {
  return {
    dir: flags.out ?? null,
    output: flags.output,
    failsOnInvalid: flags.failOnInvalid === true,
    remarks: () => [],
  }
}
