import type { Engine } from '../model/engine.js'
import type { RunOptions } from '../model/run.js'

/** The load generators of a run; often the same. */
export interface RunEngines {
  /** Asks for as much as contestants can do. */
  readonly saturation: Engine
  /** Holds the rates. */
  readonly rate: Engine
}

/** The load generators that the options name. */
export function runEngines(
  { engine, saturationEngine = engine }: RunOptions,
  engineNamed: (name: Engine['name']) => Engine,
): RunEngines {
  const rate = engineNamed(engine)
  return { rate, saturation: saturationEngine === engine ? rate : engineNamed(saturationEngine) }
}

/** Their versions by their names. @throws Error when one is not installed, or cannot do what is asked of it */
export function engineVersions(
  { saturation, rate }: RunEngines,
  options: RunOptions,
): Record<string, string> {
  const versions: Record<string, string> = {}
  for (const engine of [saturation, rate]) {
    const version = engine.version()
    if (version === null)
      throw new Error(`the load generator ${engine.name} is not installed: ${engine.remedy}`)
    versions[engine.name] = version
  }
  if (options.sloMicros !== null && !rate.hasOpenLoop)
    throw new Error(`${rate.name} cannot hold a rate, so it cannot search for the highest one`)
  return versions
}
