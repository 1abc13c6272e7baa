import type { Inspection } from './inspection.js'

/** Checks plugins: unusable or duplicate ones. */
export function checkPlugins({ document, origins, plugins, report }: Inspection): void {
  const seen = new Set<string>()
  for (const [name, path] of origins.entries(document.plugins, ['plugins'])) {
    const found = plugins.get(name)
    if (report.referencesAt(path) !== null) {
      report.add({
        path,
        message: 'the name of a plugin cannot contain a reference',
        remedy: 'write the literal name',
      })
    } else if (seen.has(name)) {
      report.add({ path, message: `the plugin '${name}' is listed twice`, remedy: 'remove one' })
    } else if (found === undefined) {
      const message = `the plugin '${name}' was not checked`
      report.add({
        path,
        message,
        remedy: 'validate the document on the machine of the gateway',
        ofMachine: true,
      })
    } else if ('message' in found) report.add({ path, ...found })
    seen.add(name)
  }
}
