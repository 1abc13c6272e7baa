/**
 * What stands in a plan for the folder of the document. Nobody can write it in a document: there it is no reference.
 */
export const FOLDER = '${folder}'

/** A text of a plan as the document has it: a path without the folder that it begins in. */
export function withoutFolder(text: string): string {
  if (text === FOLDER) return '.'
  return text.startsWith(`${FOLDER}/`) ? text.slice(FOLDER.length + 1) : text
}
