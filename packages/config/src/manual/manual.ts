import { documentSchema } from '../schema/document.js'
import { CHAPTERS, type Chapter, REPEATED } from './chapters.js'
import { type KeyRow, keyRows } from './key-rows.js'

/** Returns the manual of the document as Markdown. @param exampleOf returns the YAML example of a chapter */
export function manual(introduction: string, exampleOf: (chapter: Chapter) => string): string {
  const chapters = CHAPTERS.map((chapter) => section(chapter, exampleOf(chapter)))
  const list = CHAPTERS.map(({ at }) => `[${titleOf(at)}](#${anchorOf(at)})`).join(' · ')
  return [`${introduction.trimEnd()}\n`, `${list}\n`, ...chapters].join('\n')
}

/** Returns the rows of a chapter. */
export function rowsOf({ at }: Chapter): readonly KeyRow[] {
  return keyRows(documentSchema)
    .filter(({ path }) => chapterOf(path) === at && !isRepeated(path))
    .map(withPlaceOfKeys)
}

function isRepeated(path: string): boolean {
  return [...REPEATED.keys()].some((location) => isBelow(path, location))
}

function withPlaceOfKeys(row: KeyRow): KeyRow {
  const location = REPEATED.get(row.path)
  return location === undefined
    ? row
    : { ...row, description: `${row.description} Its keys are those of \`${location}\`.` }
}

/** Returns the chapter of a key. The key of a chapter itself belongs to the surrounding chapter. */
function chapterOf(path: string): string {
  const around = CHAPTERS.filter(({ at }) => at === '' || isBelow(path, at))
  return around.reduce((longest, { at }) => (at.length > longest.length ? at : longest), '')
}

function isBelow(path: string, at: string): boolean {
  return path.startsWith(`${at}.`) || path.startsWith(`${at}[`)
}

function section(chapter: Chapter, example: string): string {
  const rows = rowsOf(chapter).map(
    ({ path, type, defaultText, description }) =>
      `| ${[`\`${path}\``, type, defaultText, description].map(cell).join(' | ')} |`,
  )
  return [
    `## ${titleOf(chapter.at)}\n`,
    `${chapter.text}\n`,
    `\`\`\`yaml\n${example.trimEnd()}\n\`\`\`\n`,
    ...(rows.length === 0
      ? []
      : ['| key | type | default | meaning |', '| --- | --- | --- | --- |', ...rows, '']),
  ].join('\n')
}

function titleOf(at: string): string {
  return at === '' ? 'The document' : at.replaceAll('[]', '')
}

function anchorOf(at: string): string {
  return titleOf(at).toLowerCase().replaceAll('.', '').replaceAll(' ', '-')
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}
