import type { Inspection } from './inspection.js'

/** Plugins that cannot be used, and those that stand twice. */
export function checkPlugins({ document, origins, plugins, report }: Inspection): void {
  const seen = new Set<string>()
  for (const [name, path] of origins.entries(document.plugins, ['plugins'])) {
    const found = plugins.get(name)
    if (report.referencesAt(path) !== null) {
      report.add({
        path,
        message: 'the name of a plugin cannot be a reference',
        remedy: 'write the name itself',
      })
    } else if (seen.has(name)) {
      report.add({ path, message: `the plugin '${name}' stands twice`, remedy: 'remove one' })
    } else if (found === undefined) {
      const message = `the plugin '${name}' is not looked at here`
      report.add({
        path,
        message,
        remedy: 'check the document on the machine of the gateway',
        ofMachine: true,
      })
    } else if ('message' in found) report.add({ path, ...found })
    seen.add(name)
  }
}
