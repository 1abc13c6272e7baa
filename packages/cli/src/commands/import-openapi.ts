import { writeFileSync } from 'node:fs'
import { type ApiOutline, readApiOutline } from '@sluice/policies'
import { stringify } from 'yaml'
import type { OutputOptions } from '../input/options.js'
import { EXIT, Failure, messageOf, usageError } from '../output/failure.js'
import { type Format, printText, say } from '../output/output.js'
import { countText } from '../output/text.js'
import { type ImportedRoute, importedRoutes } from './imported-routes.js'

interface ImportOptions extends OutputOptions {
  readonly out?: string
  readonly upstream?: string
}

/** Location of an API. */
interface Server {
  /** Scheme, host and port of the server. */
  readonly origin: string
  /** Prefix of the described paths; may be empty. */
  readonly basePath: string
}

/** Writes a document that routes an API according to its OpenAPI description, and validates every request. */
export async function importOpenapi({ out, output, upstream }: ImportOptions, file: string): Promise<void> {
  const api = await readApiOutline(file).catch((error: unknown) => {
    throw new Failure(messageOf(error), EXIT.invalid)
  })
  const server = serverOf(api, upstream)
  const routes = importedRoutes(api.paths, server.basePath)
  if (routes.length === 0) throw new Failure(`${file} describes no paths`, EXIT.invalid)
  const text = documentText(api, { server, routes, file, output })
  if (out === undefined) printText(text)
  else {
    write(out, text)
    say(`${out}: ${countText(routes.length, 'route')} to ${server.origin}`)
  }
}

/**
 * Returns the server of an API.
 * @throws Failure if neither the option nor the description contains an origin
 */
function serverOf({ servers }: ApiOutline, upstream: string | undefined): Server {
  const [server = '/'] = servers
  const absolute = servers.find((one) => /^https?:\/\//i.test(one))
  const target = upstream ?? absolute
  if (target === undefined)
    throw usageError("the description contains no absolute server URL; add '--upstream URL'")
  const url = URL.canParse(target) ? new URL(target) : null
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw usageError(`'${target}' is not a URL; use for example http://127.0.0.1:9000`)
  }
  if (upstream !== undefined && `${url.pathname}${url.search}` !== '/')
    throw usageError(`'${upstream}' has a path; use only scheme, host and port`)
  const base = upstream === undefined ? url : new URL(server, url)
  return { origin: url.origin, basePath: base.pathname.replace(/\/+$/, '') }
}

interface DocumentParts {
  readonly server: Server
  readonly routes: readonly ImportedRoute[]
  readonly file: string
  readonly output: Format
}

function documentText(api: ApiOutline, { server, routes, file, output }: DocumentParts): string {
  const document = {
    version: 1,
    upstreams: { api: { targets: [server.origin] } },
    policies: [
      {
        id: 'openapi',
        use: 'openapi',
        with: {
          description: { file: file.replaceAll('${', '$${') },
          ...(server.basePath !== '' && { basePath: server.basePath }),
        },
      },
    ],
    routes: routes.map(({ id, path, methods }) => ({
      id,
      match: { path, methods },
      upstream: 'api',
      policies: ['openapi'],
    })),
  }
  if (output === 'json') return `${JSON.stringify(document, null, 2)}\n`
  const title = `${api.title} ${api.version}`.replaceAll(/[^\x20-\x7e]+/g, ' ')
  return `# ${title}, imported from its OpenAPI description.\n${stringify(document)}`
}

/** Writes a file, but never overwrites one. */
function write(output: string, text: string): void {
  try {
    writeFileSync(output, text, { flag: 'wx' })
  } catch (error) {
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST'
    const reason = isThere ? 'it already exists; choose another name or remove it' : messageOf(error)
    throw new Failure(`cannot write ${output}: ${reason}`)
  }
}
