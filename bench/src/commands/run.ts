import { EXIT, usageError } from '@sluice/cli/kit'
import type { Suite } from '../model/scenario.js'
import { urlSuite } from '../suite/quick.js'
import { suiteOf } from '../suite/suites.js'
import { type CallFlags, callOf } from './call.js'
import { measureAndReport } from './measuring.js'
import { type ChoiceFlags, chosenSuite, type MeasuringFlags, runOptions, USUAL_RATES } from './run-options.js'
import { mendable } from './settings.js'

/** `gw bench run`: measures a suite. */
export async function benchRun(flags: MeasuringFlags & ChoiceFlags, name: string): Promise<void> {
  const suite = chosenSuite(namedSuite(name), flags)
  const options = runOptions(suite, flags, flags.quick === true ? [] : USUAL_RATES)
  return measureAndReport(options, flags, { isKept: true })
}

/** `gw bench quick`: runs the smoke suite, or measures a running server. Results are written only with `--out`. */
export async function benchQuick(flags: MeasuringFlags & CallFlags, url?: string): Promise<void> {
  const outcome = { isKept: flags.out !== undefined }
  if (url === undefined) {
    const own = ['method', 'header', 'data', 'body', 'pid'] as const
    const alone = own.find((name) => flags[name] !== undefined)
    if (alone !== undefined) throw usageError(`--${alone} requires a URL; write the URL after the command`)
    const suite = chosenSuite(namedSuite('smoke'), flags)
    return measureAndReport(runOptions(suite, flags, []), flags, outcome)
  }
  if (flags.with !== undefined)
    throw usageError('--with cannot be used with a URL: use gw bench run SUITE --target ADDRESS --with PEERS')
  const { origin, call } = callOf(url, flags)
  const suite = chosenSuite(urlSuite(call), flags)
  return measureAndReport(runOptions(suite, { ...flags, target: origin }, []), flags, outcome)
}

/** Returns a suite by name. @throws Failure with the known names, or with what the suite needs */
export function namedSuite(name: string): Suite {
  try {
    return suiteOf(name)
  } catch (error) {
    throw mendable(error, EXIT.usage)
  }
}
