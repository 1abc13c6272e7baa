import { register } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Preloaded by a process that must find isolated-vm as if it were installed with the gateway. */
const home = process.env['SLUICE_ISOLATED_VM_HOME'] ?? ''
register(new URL('./beside-hooks.js', import.meta.url), {
  data: pathToFileURL(join(home, 'package.json')).href,
})
