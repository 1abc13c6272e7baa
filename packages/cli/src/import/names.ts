/** Maximum length of a name, without a numeric suffix. The document allows 128 characters. */
const MAX_NAME = 100

/** Returns a name for the document: letters, digits, dots, hyphens and underscores. */
export function cleanName(text: string, otherwise: string): string {
  const words = text.replaceAll(/[^A-Za-z0-9._]+/g, '-').replaceAll(/^[-._]+|[-._]+$/g, '')
  return words === '' ? otherwise : words.slice(0, MAX_NAME)
}

/** Names in use, each with the number of the last name derived from it. */
export type TakenNames = Map<string, number>

/** Returns an unused name, and reserves it. */
export function uniqueName(name: string, taken: TakenNames): string {
  let number = taken.get(name)
  let free = name
  while (number !== undefined && taken.has(free)) free = `${name}_${++number}`
  taken.set(free, 1)
  if (number !== undefined) taken.set(name, number)
  return free
}
