import { fakeCatalog } from '../../testing/fake-policy.js'
import { checkDocuments } from '../document-checks.js'

checkDocuments(fakeCatalog({}))
