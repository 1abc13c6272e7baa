import { COMING_POLICIES } from '../availability.js'
import { type DocumentPath, isMapping, valueAt } from '../document-path.js'
import { policyIdOf } from '../policy-id.js'
import { writtenPolicies } from '../policy-uses.js'
import type { RouteDocument } from '../schema/document.js'
import { suggestion } from '../spelling.js'
import type { Inspection } from './inspection.js'

/** Policies: names that nobody knows, ids that are not there or stand twice. */
export function checkPolicies(inspection: Inspection): void {
  const { document, origins } = inspection
  checkNames(inspection)
  checkSharedIds(inspection)
  const shared = writtenIds(inspection.whole, 'policies')
  for (const [route, path] of origins.entries(document.routes, ['routes'])) {
    checkChain(inspection, shared, route, [...path, 'policies'])
  }
}

function checkNames({ whole, catalog, report }: Inspection): void {
  const known = [...catalog.keys()]
  for (const { path, use } of writtenPolicies(whole)) {
    const location = [...path, 'use']
    if (catalog.has(use) || !report.isSound(location)) continue
    const isComing = COMING_POLICIES.has(use)
    const list = `the policies are ${known.join(', ')}`
    const name = report.quote(use, location)
    report.add({
      path: location,
      message: isComing ? `the policy ${name} is not available yet` : `there is no policy ${name}`,
      remedy: isComing ? `remove it; ${list}` : suggestion(use, [...known, ...COMING_POLICIES], list),
    })
  }
}

function checkSharedIds({ document, origins, report }: Inspection): void {
  const seen = new Set<string>()
  for (const [policy, path] of origins.entries(document.policies, ['policies'])) {
    const location = [...path, 'id']
    if (seen.has(policy.id)) {
      const message = `two shared policies have the id ${report.quote(policy.id, location)}`
      report.add({ path: location, message, remedy: 'rename one of them' })
    }
    seen.add(policy.id)
  }
}

function checkChain(
  { origins, catalog, report }: Inspection,
  shared: ReadonlySet<string>,
  route: RouteDocument,
  path: DocumentPath,
): void {
  const seen = new Set<string>()
  for (const [entry, location] of origins.entries(route.policies, path)) {
    const id = policyIdOf(entry, route.id, Number(location.at(-1)))
    const name = report.quote(id, location)
    if (typeof entry === 'string' && !shared.has(entry)) {
      const fallback = catalog.has(entry) ? `write use: ${entry}` : 'add it under policies'
      const remedy = suggestion(entry, catalog.has(entry) ? [] : shared, fallback)
      report.add({ path: location, message: `there is no shared policy ${name}`, remedy, presumesAll: true })
    }
    if (seen.has(id)) {
      report.add({
        path: location,
        message: `the policy ${name} stands twice in this chain`,
        remedy: 'remove or rename one',
      })
    }
    seen.add(id)
  }
}

/** The ids of the items of a list at the root of the document, those of unsound items included. */
export function writtenIds(whole: unknown, list: 'routes' | 'policies'): ReadonlySet<string> {
  const items = valueAt(whole, [list])
  if (!Array.isArray(items)) return new Set()
  return new Set(
    items.flatMap((item) => (isMapping(item) && typeof item['id'] === 'string' ? [item['id']] : [])),
  )
}

/** Warns of what is defined and never used. */
export function checkUnused({ document, origins, report }: Inspection): void {
  for (const kind of ['upstream', 'api'] as const) {
    const used = new Set(document.routes.map((route) => route[kind]))
    const section = `${kind}s` as const
    for (const name of Object.keys(document[section])) {
      if (used.has(name)) continue
      const message = `no route uses the ${kind} '${name}'`
      const path = [section, name]
      report.add({ path, at: 'key', severity: 'warning', message, remedy: 'use it or remove it' })
    }
  }
  const entries = new Set(document.routes.flatMap((route) => route.policies))
  for (const [policy, path] of origins.entries(document.policies, ['policies'])) {
    if (entries.has(policy.id)) continue
    const location = [...path, 'id']
    const message = `no route uses the policy ${report.quote(policy.id, location)}`
    report.add({ path: location, severity: 'warning', message, remedy: 'use it or remove it' })
  }
}
