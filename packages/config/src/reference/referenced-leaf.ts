import { type DocumentPath, formatPath, isMapping } from '../document-path.js'
import { isFlaw } from '../flaw.js'
import type { Report } from '../report.js'
import type { ReferenceValues } from './reference-values.js'
import {
  isTemplate,
  parseTemplate,
  referencesOf,
  shownReference,
  type TextTemplate,
} from './text-template.js'

/** A text of the document with references or escapes in it. */
export interface ReferencedLeaf {
  readonly path: DocumentPath
  /** The references as written, for messages; empty when the text has escapes only. */
  readonly references: string
  /** The text with the values put in; null when one has no value, which the report says. */
  readonly value: string | null
}

/** The texts of a document that do not mean what they say, by formatted path. */
export type ReferencedLeaves = ReadonlyMap<string, ReferencedLeaf>

/** Finds them all and resolves them; what cannot be resolved goes to the report. */
export function referencedLeaves(root: unknown, values: ReferenceValues, report: Report): ReferencedLeaves {
  const leaves = new Map<string, ReferencedLeaf>()
  const visit = (value: unknown, path: DocumentPath): void => {
    if (typeof value === 'string') {
      const leaf = isTemplate(value) ? leafOf(value, path, { values, report }) : null
      if (leaf !== null) leaves.set(formatPath(path), leaf)
    } else if (Array.isArray(value)) {
      for (const [i, item] of value.entries()) visit(item, [...path, i])
    } else if (isMapping(value)) {
      for (const [key, item] of Object.entries(value)) {
        refuseReference(key, [...path, key], report)
        visit(item, [...path, key])
      }
    }
  }
  visit(root, [])
  return leaves
}

function leafOf(
  text: string,
  path: DocumentPath,
  { values, report }: { values: ReferenceValues; report: Report },
): ReferencedLeaf {
  const template = parseTemplate(text)
  if (isFlaw(template)) {
    report.add({ path, ...template })
    return { path, references: shownReference(text), value: null }
  }
  const flaws = referencesOf(template)
    .map((reference) => values.of(reference))
    .filter(isFlaw)
  for (const flaw of flaws) report.add({ path, ...flaw })
  return { path, references: spoken(template), value: flaws.length > 0 ? null : filled(template, values) }
}

function filled(template: TextTemplate, values: ReferenceValues): string {
  return template.map((part) => (typeof part === 'string' ? part : String(values.of(part)))).join('')
}

function spoken(template: TextTemplate): string {
  return [...new Set(referencesOf(template).map((reference) => shownReference(reference.text)))].join(' and ')
}

function refuseReference(key: string, path: DocumentPath, report: Report): void {
  if (!isTemplate(key)) return
  report.add({
    path,
    at: 'key',
    message: 'a key holds a reference',
    remedy: 'references may stand in values only',
  })
}
