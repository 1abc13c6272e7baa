import type { Engine } from '../model/engine.js'
import { autocannon } from './autocannon.js'
import { h2load } from './h2load.js'
import { oha } from './oha.js'
import { wrk } from './wrk.js'
import { wrk2 } from './wrk2.js'

/** All load generators, the built-in one first. */
export const engines: readonly Engine[] = [autocannon, wrk, wrk2, oha, h2load]

/** The engine of a name. @throws Error that lists the names when there is none. */
export function engineOf(name: string): Engine {
  const engine = engines.find((candidate) => candidate.name === name)
  if (engine !== undefined) return engine
  throw new Error(`there is no engine ${name}: take ${engines.map((known) => known.name).join(', ')}`)
}
