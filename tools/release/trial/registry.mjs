import { createHash } from 'node:crypto'
import { createReadStream, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { run } from '../run.mjs'

/**
 * Serves the tarballs of a release as a package registry on loopback, so that a test installs them as users do.
 * Other packages come from the usual registry.
 * @returns `url`, and `close`
 */
export async function startRegistry(folder) {
  const packages = new Map(
    readdirSync(folder).flatMap((file) => (file.endsWith('.tgz') ? [described(folder, file)] : [])),
  )
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url).slice(1)
    const packed = packages.get(path)
    if (packed !== undefined)
      return response.end(JSON.stringify(packument(packed, `http://${request.headers.host}`)))
    const known = [...packages.values()].find(({ file }) => path === `-/${file}`)
    if (known !== undefined) return createReadStream(join(folder, known.file)).pipe(response)
    response.writeHead(404).end('{}')
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

function described(folder, file) {
  const manifest = JSON.parse(run('tar', ['-xzOf', join(folder, file), 'package/package.json']))
  const digest = createHash('sha512')
    .update(readFileSync(join(folder, file)))
    .digest('base64')
  return [manifest.name, { file, manifest, integrity: `sha512-${digest}` }]
}

function packument({ file, manifest, integrity }, url) {
  const version = { ...manifest, dist: { tarball: `${url}/-/${file}`, integrity } }
  return {
    name: manifest.name,
    'dist-tags': { latest: manifest.version },
    versions: { [manifest.version]: version },
  }
}
