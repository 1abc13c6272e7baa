import type { DocumentPath } from '../../diagnostic/document-path.js'
import { isServiceAddress } from '../../grammar/kubernetes-service.js'
import type { UpstreamDocument } from '../../schema/document.js'
import type { Inspection } from '../../semantics/inspection.js'

/** A target of the document. */
interface LocatedTarget {
  readonly url: string
  readonly path: DocumentPath
  readonly upstream: UpstreamDocument
  /** True if the addresses come from a SRV record or a Kubernetes Service. */
  readonly isDiscovered: boolean
}

/** Returns all targets with their paths. */
export function targetsOf({ document, origins }: Inspection): readonly LocatedTarget[] {
  return Object.entries(document.upstreams).flatMap(([name, upstream]) =>
    origins.entries(upstream.targets, ['upstreams', name, 'targets']).map(([target, path]) => ({
      url: typeof target === 'string' ? target : target.url,
      path: typeof target === 'string' ? path : [...path, 'url'],
      upstream,
      isDiscovered:
        typeof target === 'string'
          ? isServiceAddress(target)
          : isServiceAddress(target.url) || (target.srv ?? target.service) !== undefined,
    })),
  )
}
