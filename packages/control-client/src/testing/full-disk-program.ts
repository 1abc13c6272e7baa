import { randomBytes } from 'node:crypto'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BundleFolder } from '../client/bundle-folder.js'
import { testBundle } from './scripted-controller.js'

// Program of a test: stores a bundle for which the disk has no space, in the folder of the first argument. Writes the result
// to the file of the second one.
const root = process.argv[2]!
const folder = new BundleFolder(root)
const first = testBundle('one')
await folder.place(first.manifest, first.chunks)
folder.stage({
  store: '00000000-0000-4000-8000-000000000001',
  group: 'g',
  deploy: 1,
  digest: first.digest,
  note: '',
  actor: '',
})
folder.commit(1)
const large = testBundle('two', { large: randomBytes(500_000).toString('base64') })
const code = await folder.place(large.manifest, large.chunks).then(
  () => 'stored',
  (error: NodeJS.ErrnoException) => error.code,
)
const again = new BundleFolder(root)
const state = again.isWhole(first.digest) ? 'whole' : 'damaged'
const bundles = readdirSync(join(root, 'bundles')).length
writeFileSync(process.argv[3]!, `${code}, active ${again.active?.deploy}, ${state}, ${bundles} bundles`)
