import { measure, type Outcome } from './measuring.js'
import { namedSuite } from './named-suite.js'
import {
  type ChoiceFlags,
  chosenSuite,
  type LoadFlags,
  type MeasuringFlags,
  runOrder,
  USUAL_RATES,
} from './run-order.js'
import type { BenchTools } from './tools.js'

type RunFlags = LoadFlags & MeasuringFlags & ChoiceFlags

/** `gw bench run`. */
export function benchRun(tools: BenchTools): (flags: RunFlags, name: string) => Promise<number> {
  return async (flags, name) => {
    const suite = chosenSuite(namedSuite(name), flags)
    const order = runOrder(tools, suite, flags, flags.quick === true ? [] : USUAL_RATES)
    return measure(tools, order, { ...outcomeOf(flags), isKept: true })
  }
}

/** `gw bench quick`: the smoke suite. Nobody needs its figures tomorrow, so they are written only where `--out` says. */
export function benchQuick(tools: BenchTools): (flags: LoadFlags) => Promise<number> {
  return async (flags) => {
    const order = runOrder(tools, namedSuite('smoke'), flags, [])
    return measure(tools, order, { ...outcomeOf(flags), isKept: flags.out !== undefined })
  }
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
