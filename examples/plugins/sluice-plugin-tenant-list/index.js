import { readFileSync, statSync } from 'node:fs'

/** Larger files are probably not tenant lists. */
const MAX_BYTES = 1024 * 1024

/** Sends the tenant of a request to the upstream. Routes with the same file share the list. */
export default ({ parseDuration, removeHeader, setHeader }) => ({
  name: 'tenant-list',
  summary: 'Sends the tenant of a request to the upstream in a header, selected by host from a file.',
  schema: {
    type: 'object',
    description: 'Each line of the file has a host and its tenant. The header is removed from client requests.',
    additionalProperties: false,
    required: ['file'],
    properties: {
      file: { type: 'string', minLength: 1, path: true, description: 'The file with the list.' },
      field: {
        type: 'string',
        pattern: '^[a-z][a-z0-9-]{0,63}$',
        default: 'x-tenant',
        description: 'The header name, in lower case.',
      },
      unknown: {
        enum: ['refuse', 'pass'],
        default: 'refuse',
        description: 'How to handle requests for other hosts.',
      },
      every: {
        type: 'string',
        pattern: '^[1-9][0-9]{0,4}s$',
        default: '60s',
        description: 'How often the file is reloaded.',
      },
    },
  },
  compile({ file, field, unknown, every }, env) {
    const list = env.shared(`tenant-list:${file}`, () => ({ tenants: readList(file) }))
    const refused = env.refusal('GW_POLICY_REFUSED', 'no tenant has this host; check the address')
    env.schedule(parseDuration(every), () => {
      try {
        list.tenants = readList(file)
      } catch (error) {
        // The last valid list stays in use.
        env.report('tenant_list_unreadable', { file, error: error.message })
      }
    })
    return {
      name: 'tenant-list',
      onRequest(x) {
        const tenant = list.tenants.get(x.host)
        if (tenant !== undefined) setHeader(x.headers, field, tenant)
        else if (unknown === 'refuse') return refused
        else removeHeader(x.headers, field)
        return null
      },
    }
  },
})

function readList(file) {
  if (statSync(file).size > MAX_BYTES) throw new Error(`${file} is larger than ${MAX_BYTES} bytes`)
  const tenants = new Map()
  for (const [i, line] of readFileSync(file, 'utf8').split('\n').entries()) {
    const text = line.trim()
    if (text === '' || text.startsWith('#')) continue
    const [host, tenant, ...rest] = text.split(/\s+/)
    if (tenant === undefined || rest.length > 0 || !/^[\w.-]+$/.test(tenant))
      throw new Error(`line ${i + 1} of the list is not a host and a tenant`)
    tenants.set(host.toLowerCase(), tenant)
  }
  return tenants
}
