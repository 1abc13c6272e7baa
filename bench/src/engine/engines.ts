import type { Engine, EngineName } from '../model/engine.js'
import { autocannon } from './autocannon.js'
import { h2load } from './h2load.js'
import { oha } from './oha.js'
import { wrk } from './wrk.js'

const BY_NAME: Readonly<Record<EngineName, Engine>> = { autocannon, wrk, oha, h2load }

/** All load generators, the built-in one first. */
export const engines: readonly Engine[] = Object.values(BY_NAME)

/** The engine of a name. */
export function engineOf(name: EngineName): Engine {
  return BY_NAME[name]
}

/** Its version. @throws Error with the remedy when it is not installed */
export function installedVersion({ name, remedy, version }: Engine): string {
  const found = version()
  if (found === null) throw new Error(`the load generator ${name} is not installed: ${remedy}`)
  return found
}
