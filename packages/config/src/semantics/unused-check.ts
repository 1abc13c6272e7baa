import type { Inspection } from './inspection.js'

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
