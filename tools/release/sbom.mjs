import { join } from 'node:path'
import { npm, readJson, run } from './run.mjs'

/** Identifiers and package addresses of the workspace. */
const OWN_NAME = /^(?:pkg:npm\/)?((?:@|%40)sluice\/[\w-]+|create-sluice|sluice)@/

/** Returns the bill of materials (CycloneDX) of a release. Its time and serial number follow from the commit. */
export function billOfMaterials(root, { version, epoch }) {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--omit=dev', '--package-lock-only']
  const current = readJson(join(root, 'package.json')).version
  const bill = JSON.parse(npm(root, ...args), (_, value) => released(value, current, version))
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(epoch) }
  const complete = join(root, 'deploy/image/complete-sbom.mjs')
  return run(process.execPath, [complete], { input: JSON.stringify(bill), env })
}

/** Replaces the version of a package of the workspace: in its description, and in its name where others refer to it. */
function released(value, current, version) {
  if (typeof value === 'string' && OWN_NAME.test(value) && value.endsWith(`@${current}`))
    return `${value.slice(0, -current.length)}${version}`
  if (!OWN_NAME.test(value?.purl)) return value
  // npm takes the name from the folder, which is not the same on every machine.
  return { ...value, name: OWN_NAME.exec(value['bom-ref'])[1], version }
}
