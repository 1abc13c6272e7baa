import { resolve } from 'node:path'
import { usablePlugins } from '../plugins/plugin-set.js'
import { policySuggestion } from '../policy/policy-names.js'
import { writtenPolicies } from '../schema/policy-uses.js'
import { replaceMarked } from '../secrets/mask.js'
import { checkChains } from './chain-check.js'
import type { Inspection } from './inspection.js'

/** Checks policies: unknown names, duplicate ids. */
export function checkPolicies(inspection: Inspection): void {
  checkNames(inspection)
  checkSharedIds(inspection)
  checkChains(inspection)
}

function checkNames({ whole, document, catalog, plugins, report }: Inspection): void {
  // An unknown policy may belong to a plugin that could not be loaded.
  if (usablePlugins(plugins).length < new Set(document.plugins).size) return
  const known = [...catalog.keys()]
  for (const { path, use } of writtenPolicies(whole)) {
    const location = [...path, 'use']
    if (catalog.has(use) || !report.isValid(location)) continue
    const list = `available policies: ${known.join(', ')}`
    const name = report.quote(use, location)
    report.add({
      path: location,
      message: `there is no policy ${name}`,
      remedy: policySuggestion(use, known, list),
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

/** Adds the warnings of policies about their parameters. */
export function checkParameters({ whole, catalog, folder, report }: Inspection): void {
  const replace = (file: unknown): unknown => (typeof file === 'string' ? resolve(folder, file) : file)
  for (const { path, use, with: config = {} } of writtenPolicies(whole)) {
    const policy = catalog.get(use)
    if (policy?.warnings === undefined) continue
    // A policy may read the files that it names.
    const located = replaceMarked(policy.schema, config, { keyword: 'path', replace })
    for (const warning of policy.warnings(located as never))
      report.add({ rule: 'policy-settings', ...warning, path, severity: 'warning' })
  }
}

/** Warns about unused upstreams, APIs, groups and policies. */
export function checkUnused({ document, origins, report }: Inspection): void {
  const warn = (path: readonly (string | number)[], name: string, at: 'key' | 'value'): void => {
    const [message, remedy] = [`no route uses the ${name}`, 'use it or remove it']
    report.add({ path, at, severity: 'warning', rule: 'unused', message, remedy })
  }
  for (const kind of ['upstream', 'api'] as const) {
    const used = new Set(document.routes.map((route) => route[kind]))
    const section = `${kind}s` as const
    for (const name of Object.keys(document[section]))
      if (!used.has(name)) warn([section, name], `${kind} '${name}'`, 'key')
  }
  const used = new Set(document.routes.flatMap((route) => route.policies))
  for (const name of Object.keys(document.policyGroups))
    if (!used.has(name)) warn(['policyGroups', name], `policy group '${name}'`, 'key')
  const entries = new Set([...used, ...Object.values(document.policyGroups).flat()])
  for (const [policy, path] of origins.entries(document.policies, ['policies'])) {
    const location = [...path, 'id']
    if (!entries.has(policy.id)) warn(location, `policy ${report.quote(policy.id, location)}`, 'value')
  }
}
