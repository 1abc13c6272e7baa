import type { Engine } from '../model/engine.js'

/** @throws Error with the remedy when a load generator is not installed */
export function assertInstalled({ name, remedy, version }: Engine): void {
  if (version() === null) throw new Error(`${name} is not installed: ${remedy}`)
}
