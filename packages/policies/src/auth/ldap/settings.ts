import { isIP } from 'node:net'
import { parseDistinguishedName } from '../../identity/consumers/distinguished-name.js'
import type { DirectoryOptions } from './directory.js'
import { filterTemplate, nameTemplate } from './name-template.js'
import type { LdapConfig } from './schema.js'
import type { ServerAddress } from './transport.js'

/**
 * Parses the server addresses. @throws Error if an address is invalid, or would receive passwords without
 * TLS.
 */
export function serverAddresses({ urls, tls = {} }: LdapConfig): readonly ServerAddress[] {
  if ((tls.certFile === undefined) !== (tls.keyFile === undefined))
    throw new Error("'tls.certFile' and 'tls.keyFile' belong together; write both or neither")
  return urls.map((text) => {
    const { protocol, hostname, port } = addressIn(text)
    const isTls = protocol === 'ldaps:'
    const host = hostname.replaceAll(/^\[|\]$/g, '')
    const security = isTls ? 'tls' : tls.startTls === true ? 'start-tls' : 'none'
    if (security === 'none' && tls.allowPlaintext !== true && !isThisMachine(host))
      throw new Error(
        `passwords would be sent to '${text}' without TLS; use ldaps:// or tls.startTls, or set tls.allowPlaintext: true`,
      )
    return { url: text, host, port: port === '' ? (isTls ? 636 : 389) : Number(port), security }
  })
}

/** True if the host is this machine. */
function isThisMachine(host: string): boolean {
  return host === 'localhost' || host === '::1' || (/^127\./.test(host) && isIP(host) === 4)
}

function addressIn(text: string): URL {
  try {
    return new URL(text)
  } catch {
    throw new Error(
      `'${text}' is not a valid directory address; use for example ldaps://ldap.example.org:636`,
    )
  }
}

/**
 * Compiles the directory options. @throws Error if options contradict each other, or if a DN or filter is
 * invalid.
 */
export function directoryOptions(config: LdapConfig): DirectoryOptions {
  const { userDn, userFilter, userBase, userScope = 'sub', bind, groups, attributes = {} } = config
  if (userDn === undefined && userFilter === undefined)
    throw new Error("configure 'userDn', or 'userBase' and 'userFilter'")
  if ((userFilter === undefined) !== (userBase === undefined))
    throw new Error("'userBase' and 'userFilter' belong together; write both or neither")
  if (userDn !== undefined && !userDn.includes('=') && userFilter === undefined)
    throw new Error("'userDn' does not name an entry; add 'userBase' and 'userFilter' to find it")
  if (bind !== undefined) distinguishedName(bind.dn, 'bind.dn')
  return {
    service: bind ?? null,
    userName: userDn === undefined ? null : nameTemplate(userDn),
    userSearch:
      userFilter === undefined
        ? null
        : {
            base: distinguishedName(userBase!, 'userBase'),
            scope: userScope,
            filter: filterTemplate(userFilter, ['username'], 'userFilter'),
          },
    groups: groups === undefined ? null : groupSearch(groups),
    attributes: {
      id: attributes.id ?? 'uid',
      name: attributes.name ?? null,
      groups: attributes.groups ?? null,
      claims: attributes.claims ?? [],
    },
  }
}

function groupSearch(groups: NonNullable<LdapConfig['groups']>): DirectoryOptions['groups'] {
  const { base, scope = 'sub', filter = '(member={{dn}})', attribute = 'cn', nested = false } = groups
  if (nested && !/\{\{\s*dn\s*\}\}/.test(filter))
    throw new Error("'groups.nested' needs a 'groups.filter' that contains {{dn}}")
  return {
    base: distinguishedName(base, 'groups.base'),
    scope,
    filter: filterTemplate(filter, ['dn', 'username'], 'groups.filter'),
    attribute,
    isNested: nested,
  }
}

function distinguishedName(text: string, what: string): string {
  if (parseDistinguishedName(text) === null)
    throw new Error(
      `'${what}' is not a valid distinguished name; use for example ou=people,dc=example,dc=org`,
    )
  return text
}
