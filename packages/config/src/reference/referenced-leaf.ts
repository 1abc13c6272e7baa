import { type DocumentPath, formatPath, isMapping } from '../diagnostic/document-path.js'
import { isIssue } from '../diagnostic/issue.js'
import type { Report } from '../report/report.js'
import {
  isTemplate,
  parseTemplate,
  referencesOf,
  shownReference,
  type TextTemplate,
} from '../template/text-template.js'
import type { ReferenceValues } from './reference-values.js'

/** A string of the document that contains references or escapes. */
export interface ReferencedLeaf {
  readonly path: DocumentPath
  /** The references as written, for messages; empty if the string only contains escapes. */
  readonly references: string
  /**
   * The string with references resolved. Null if one has no value, which has been reported, or is a secret
   * that this process does not read.
   */
  readonly value: string | null
  /** True if the string refers to Vault. */
  readonly isVault: boolean
}

/** Strings of a document with references or escapes, by formatted path. */
export type ReferencedLeaves = ReadonlyMap<string, ReferencedLeaf>

/** Finds and resolves all strings with references. Problems are added to the report. */
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
        rejectReference(key, [...path, key], report)
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
  if (isIssue(template)) {
    report.add({ path, ...template })
    return { path, references: shownReference(text), value: null, isVault: false }
  }
  const references = referencesOf(template)
  const issues = references.map((reference) => values.of(reference)).filter(isIssue)
  for (const issue of issues) report.add({ path, ...issue })
  const isVault = references.some(({ kind }) => kind === 'vault')
  if (isVault && path[0] === 'vault')
    report.add({
      path,
      message: 'the settings of Vault refer to Vault',
      remedy: 'use ${env:NAME} or ${file:PATH} here',
    })
  const value = references.some((reference) => values.isUnread(reference)) ? null : values.textOf(text)
  return { path, references: formatReferences(template), value, isVault }
}

function formatReferences(template: TextTemplate): string {
  return [...new Set(referencesOf(template).map((reference) => shownReference(reference.text)))].join(' and ')
}

function rejectReference(key: string, path: DocumentPath, report: Report): void {
  if (!isTemplate(key)) return
  report.add({
    path,
    at: 'key',
    message: 'a key contains a reference',
    remedy: 'references are only allowed in values',
  })
}
