import { toyCatalog } from '../../testing/toy-policy.js'
import { checkDocuments } from '../document-checks.js'

checkDocuments(toyCatalog({}))
