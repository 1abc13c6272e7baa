import { posix } from 'node:path'
import type { Catalog } from '@sluice/core'
import { type DocumentPath, isMapping, listAt } from '../diagnostic/document-path.js'
import { isIssue } from '../diagnostic/issue.js'
import { parsePathPattern } from '../grammar/path-pattern.js'
import type { PathPlan } from '../plan/plan.js'
import { writtenPathsOf } from '../reference/relative-files.js'
import { coversPath } from '../semantics/route-cover.js'
import { isTemplate, parseTemplate, type Reference, referencesOf } from '../template/text-template.js'
import type { SourceDocument } from './source-document.js'
import { isSourceDocument, partOf, type TeamScope } from './source-parts.js'

/** Data of the source folder that fragments depend on. */
export interface FragmentContext {
  readonly catalog: Catalog
  /** Paths of all files. */
  readonly files: ReadonlySet<string>
  /** Names of upstreams by owner. */
  readonly upstreams: ReadonlyMap<string, ReadonlySet<string>>
  /** Team of the caller; null: its fragments are not limited to path prefixes. */
  readonly scope: TeamScope | null
}

/** Reports everything in a fragment that could affect other teams or read what is not the team's. */
export function checkFragment(fragment: SourceDocument, context: FragmentContext): void {
  const { owner, current } = fragment
  for (const key of Object.keys(current))
    if (key !== 'routes' && key !== 'upstreams')
      fragment.report(
        [key],
        `'${key}' is not allowed in fragments`,
        'fragments have routes and upstreams only',
      )
  for (const name of fragment.upstreams) checkId(fragment, name, ['upstreams', name])
  for (const [i, route] of fragment.routes.entries()) {
    const path = ['routes', i] as const
    checkId(fragment, route['id'], [...path, 'id'])
    if (route['priority'] !== undefined)
      fragment.report([...path, 'priority'], "'priority' is not allowed in fragments", 'remove it')
    checkMatch(fragment, route['match'], { ...context, at: [...path, 'match'] })
    checkUpstream(fragment, route['upstream'], { ...context, at: [...path, 'upstream'] })
    checkPolicies(fragment, [...path, 'policies'], context)
  }
  checkTexts(fragment, current, [])
  for (const path of writtenPathsOf(current, context.catalog)) {
    const file = posix.normalize(path)
    if (context.files.has(file) && !isSourceDocument(file) && ['base', owner].includes(partOf(file) ?? ''))
      continue
    fragment.reportText(path, {
      message: `the file '${path}' is neither in base nor in a folder of the team ${owner}`,
      remedy: `add it, for example as fragments/${owner}/files/NAME, and write the whole path`,
    })
  }
}

interface Located extends FragmentContext {
  readonly at: DocumentPath
}

function checkId(fragment: SourceDocument, id: unknown, path: DocumentPath): void {
  const prefix = `${fragment.owner}-`
  if (typeof id === 'string' && id.startsWith(prefix) && !isTemplate(id)) return
  fragment.report(path, `'${String(id)}' does not start with '${prefix}'`, `write ${prefix}NAME`)
}

function checkMatch(fragment: SourceDocument, match: unknown, { at, scope }: Located): void {
  const text = isMapping(match) ? match['path'] : undefined
  if (JSON.stringify(match ?? null).includes('${'))
    fragment.report(at, 'references are not allowed in match', 'write the value itself')
  if (typeof text !== 'string') {
    fragment.report(at, 'the route has no path', 'set match.path')
    return
  }
  const place = [...at, 'path']
  const pattern = parsePathPattern(text)
  if (isIssue(pattern)) fragment.report(place, pattern.message, pattern.remedy)
  else if (!startsWithLiteral(pattern))
    fragment.report(
      place,
      `the path '${text}' does not start with a literal segment`,
      'write for example /orders/*',
    )
  else if (scope !== null && !scope.routes.some((prefix) => isUnder(prefix, pattern))) {
    const allowed = scope.routes.join(', ')
    fragment.report(
      place,
      `the path '${text}' is outside of the paths of the team ${scope.team}`,
      `use ${allowed}`,
    )
  }
}

function startsWithLiteral({ kind, segments: [first] }: PathPlan): boolean {
  return kind !== 'regex' && first?.kind === 'literal' && first.text !== ''
}

function isUnder(prefix: string, path: PathPlan): boolean {
  const parsed = parsePathPattern(prefix)
  return !isIssue(parsed) && coversPath({ ...parsed, kind: 'prefix' }, path)
}

function checkUpstream(fragment: SourceDocument, name: unknown, { at, upstreams }: Located): void {
  if (name === undefined) return
  if ([fragment.owner, 'base'].some((owner) => upstreams.get(owner)?.has(String(name)))) return
  const message = `the upstream '${String(name)}' is neither in base nor in the team ${fragment.owner}`
  fragment.report(at, message, 'define it in a fragment of the team')
}

function checkPolicies(fragment: SourceDocument, at: DocumentPath, { catalog }: FragmentContext): void {
  for (const [i, policy] of listAt(fragment.current, at).entries()) {
    if (!isMapping(policy)) continue
    if (policy['id'] !== undefined) checkId(fragment, policy['id'], [...at, i, 'id'])
    const { use } = policy as { readonly use?: unknown }
    if (typeof use === 'string' && catalog.has(use)) continue
    const message = `'${String(use)}' is not a built-in policy`
    fragment.report(
      [...at, i, 'use'],
      message,
      'define it in base.yaml under policies, and write its id here',
    )
  }
}

/** Reports references and expressions that read files, Vault, or variables of others. */
function checkTexts(fragment: SourceDocument, value: unknown, path: DocumentPath): void {
  if (Array.isArray(value)) for (const [i, item] of value.entries()) checkTexts(fragment, item, [...path, i])
  else if (isMapping(value)) {
    for (const [key, item] of Object.entries(value)) {
      checkText(fragment, key, [...path, key])
      checkTexts(fragment, item, [...path, key])
    }
  } else if (typeof value === 'string') checkText(fragment, value, path)
}

/** Texts that are no expressions: paths, URLs and single words such as `x-env`. A line break would end a comment. */
const PLAIN = /^(?:(?:https?:\/)?\/\S*|[A-Za-z][\w-]*)$/

/** True if a text may be an expression that reads variables other than those with a prefix. */
function readsEnv(text: string, prefix: string): boolean {
  if (PLAIN.test(text) && text !== 'env' && !text.includes('{{')) return false
  return /\benv\b/.test(text.replaceAll(new RegExp(`\\benv\\.${prefix}\\w+`, 'g'), ''))
}

function checkText(fragment: SourceDocument, text: string, path: DocumentPath): void {
  const prefix = `${fragment.owner.toUpperCase()}_`
  const template = parseTemplate(text)
  const references = isIssue(template) ? [] : referencesOf(template)
  const areOwn = references.every(({ kind, name }) => kind === 'env' && name.startsWith(prefix))
  const resolved = (textFor: (reference: Reference) => string): string =>
    references.reduce((left, one) => left.replaceAll(one.text, () => textFor(one)), text)
  // A default can be a part of the name: `en${env:PAYMENTS_X:-v}`.
  const readings = [resolved(() => ''), resolved(({ fallback }) => fallback ?? '')]
  if (areOwn && !isIssue(template) && !readings.some((reading) => readsEnv(reading, prefix))) return
  const remedy = `use \${env:${prefix}NAME} or env.${prefix}NAME, or a shared policy of base.yaml`
  fragment.report(path, `fragments may only read variables that start with ${prefix}`, remedy)
}
