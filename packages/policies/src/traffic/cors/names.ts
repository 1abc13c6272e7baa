import { isToken } from '@sluice/core'

/**
 * True if a list of names is `*` alone. @throws Error if a name is invalid, or if `*` stands among other
 * names.
 */
export function isStar(option: string, names: readonly string[]): boolean {
  if (names.length === 1 && names[0] === '*') return true
  for (const name of names) {
    if (name === '*') throw new Error(`'${option}' mixes '*' with names; use either '*' or names`)
    if (!isToken(name))
      throw new Error(`'${name}' under '${option}' is not a valid name; use letters, digits and -`)
  }
  return false
}
