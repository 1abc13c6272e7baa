/** Maximum length of a name, without a numeric suffix. The document allows 128 characters. */
const MAX_NAME = 100

/** Returns a name for the document: letters, digits, dots, hyphens and underscores. */
export function cleanName(text: string, otherwise: string): string {
  const words = text.replaceAll(/[^A-Za-z0-9._]+/g, '-').replaceAll(/^[-._]+|[-._]+$/g, '')
  return words === '' ? otherwise : words.slice(0, MAX_NAME)
}

/** Returns a name that is not taken yet, and takes it. */
export function uniqueName(
  name: string,
  taken: { has(name: string): boolean; add(name: string): unknown },
): string {
  let free = name
  for (let i = 2; taken.has(free); i++) free = `${name}_${i}`
  taken.add(free)
  return free
}
