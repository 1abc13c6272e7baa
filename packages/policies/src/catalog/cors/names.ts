import { isToken } from '@sluice/core'

/** Whether a list of names is the star that stands for all. @throws Error for what is no name, and for a star among names. */
export function isStar(option: string, names: readonly string[]): boolean {
  if (names.length === 1 && names[0] === '*') return true
  for (const name of names) {
    if (name === '*') throw new Error(`'${option}' has '*' beside names; write either`)
    if (!isToken(name))
      throw new Error(`'${name}' under '${option}' is not a name; write letters, digits and -`)
  }
  return false
}
