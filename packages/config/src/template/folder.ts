/**
 * Placeholder for the folder of the document in a plan. In a document it is not a valid reference, so users
 * cannot write it.
 */
export const FOLDER = '${folder}'

/** Removes the folder placeholder from a path of a plan. */
export function withoutFolder(text: string): string {
  if (text === FOLDER) return '.'
  return text.startsWith(`${FOLDER}/`) ? text.slice(FOLDER.length + 1) : text
}
