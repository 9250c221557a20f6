// @ts-check
/**
 * The reference as HTML, made of an OpenAPI document. The service renders its own document with it, and a
 * reader's browser that of the reader's account. Pure; loads nothing.
 */

/** @typedef {{ [name: string]: any }} Json */

/** @param {unknown} text */
export const escaped = text =>
  String(text).replace(
    /[&<>"]/g,
    sign => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign] ?? sign,
  )

/** @param {string} name */
const titled = name => escaped(name[0]?.toUpperCase() + name.slice(1).replaceAll('_', ' '))

/** The tags of a document, in its order. @param {Json} document @returns {string[]} */
export const tagsOf = document => document.tags.map((/** @type {Json} */ tag) => tag.name)

/** The whole reference. @param {Json} document @returns {string} */
export function referenceHtml(document) {
  return tagsOf(document)
    .map(tag => {
      const requests = Object.entries(document.paths).flatMap(([path, methods]) =>
        Object.entries(methods)
          .filter(([, operation]) => operation.tags.includes(tag))
          .map(([method, operation]) => operationHtml(method, path, operation, document)),
      )
      return `<section id="${tag}"><h2>${titled(tag)}</h2>${fieldsHtml(tag, document)}
        <h3>Requests</h3>${requests.join('')}</section>`
    })
    .join('')
}

/** The fields of a resource: what is read and what may be sent. @param {string} tag @param {Json} document */
function fieldsHtml(tag, { components: { schemas } }) {
  const read = schemas[tag]?.properties
  if (!read || !schemas[`${tag}_read`]) return ''
  const sent = schemas[`${tag}_input`]?.properties ?? {}
  const required = new Set(schemas[`${tag}_new`]?.allOf?.at(-1).required ?? [])
  const rows = Object.entries({ ...sent, ...read }).map(([name, schema]) => {
    const input = sent[name]
    const isReadOnly = schema.readOnly || !input || input.readOnly
    const said = isReadOnly ? 'read-only' : required.has(name) ? 'required' : ''
    return `<tr><td><code>${escaped(name)}</code>${said && ` <em>${said}</em>`}</td>
      <td>${escaped(input?.title ?? schema.title ?? '')}</td>
      <td>${isReadOnly ? `–${noteHtml(input?.description)}` : typeHtml(input, schemas)}</td><td>${typeHtml(schema, schemas)}</td></tr>`
  })
  return `<h3>Fields</h3><div class="wide"><table><thead><tr><th>Name</th><th>Label</th><th>Sent as</th><th>Read as</th></tr></thead>
    <tbody>${rows.join('')}</tbody></table></div>`
}

/**
 * What a schema takes, in words.
 * @param {Json} schema @param {Json} schemas @param {number} [depth] @returns {string}
 */
function typeHtml(schema, schemas, depth = 0) {
  if (schema.$ref) return `<a href="#${schemaTag(schema.$ref)}">${escaped(schema.$ref.split('/').at(-1))}</a>`
  if (schema.const !== undefined) return `<code>${escaped(JSON.stringify(schema.const))}</code>`
  if (schema.enum) return valuesHtml(schema.enum) + noteHtml(schema.description)
  if (schema.allOf) return typeHtml(schema.allOf[0], schemas, depth)
  const either = schema.anyOf ?? schema.oneOf
  if (either) {
    const all = either.map((/** @type {Json} */ one) => typeHtml(one, schemas, depth))
    return [...new Set(all)].join(' or ') + noteHtml(schema.description)
  }
  const types = [schema.type ?? 'any'].flat().map(type => simpleHtml(type, schema, schemas, depth))
  return [...new Set(types)].join(' or ') + limitsHtml(schema)
}

/** @param {string} type @param {Json} schema @param {Json} schemas @param {number} depth @returns {string} */
function simpleHtml(type, schema, schemas, depth) {
  if (type === 'array') return `list of ${typeHtml(schema.items ?? {}, schemas, depth)}`
  if (type !== 'object') return { string: 'text', integer: 'whole number', any: 'any value' }[type] ?? type
  if (!schema.properties || depth > 2) return 'object'
  const members = Object.entries(schema.properties).map(
    ([name, one]) => `<li><code>${escaped(name)}</code> ${typeHtml(one, schemas, depth + 1)}</li>`,
  )
  return `<details><summary>object</summary><ul>${members.join('')}</ul></details>`
}

/** @param {unknown[]} values */
function valuesHtml(values) {
  const shown = values.slice(0, 12).map(value => `<code>${escaped(JSON.stringify(value))}</code>`)
  return `one of ${shown.join(', ')}${values.length > 12 ? ` and ${values.length - 12} more` : ''}`
}

/** @param {Json} schema */
function limitsHtml({ minLength, maxLength, minimum, maximum, maxItems, description }) {
  const isId = maximum === Number.MAX_SAFE_INTEGER
  const limits = [
    maxLength !== undefined && `${minLength ?? 0} to ${maxLength} characters`,
    !isId && (minimum !== undefined || maximum !== undefined) && `${minimum ?? '…'} to ${maximum ?? '…'}`,
    maxItems !== undefined && `at most ${maxItems}`,
  ].filter(Boolean)
  const said = limits.length ? `, ${limits.join(', ')}` : ''
  return escaped(said) + noteHtml(description)
}

/** @param {string | undefined} text */
const noteHtml = text => (text ? ` <span class="note">${escaped(text)}</span>` : '')

/** @param {string} ref */
const schemaTag = ref =>
  ref
    .split('/')
    .at(-1)
    ?.replace(/_(read|new|input)$/, '')

/** @param {string} method @param {string} path @param {Json} operation @param {Json} document */
function operationHtml(method, path, operation, document) {
  const { components } = document
  const resolve = (/** @type {Json} */ one) =>
    one.$ref ? components.parameters[one.$ref.split('/').at(-1)] : one
  const parameters = (operation.parameters ?? []).map(resolve)
  const rows = parameters.map(
    (/** @type {Json} */ one) =>
      `<tr><td><code>${escaped(one.name)}</code>${one.required ? ' <em>required</em>' : ''}</td><td>${one.in}</td>
      <td>${typeHtml(one.schema, components.schemas)} <span class="note">${escaped(one.description ?? '')}</span></td></tr>`,
  )
  const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema
  const answers = Object.entries(operation.responses).map(([status, one]) => {
    const response = one.$ref ? components.responses[one.$ref.split('/').at(-1)] : one
    return `<tr><td>${status}</td><td>${errorLinks(response.description)}</td></tr>`
  })
  const scopes = operation.security?.flatMap((/** @type {Json} */ one) => Object.values(one).flat())
  return `<details class="operation" id="${operation.operationId}">
    <summary><b class="${method}">${method.toUpperCase()}</b> <code>${escaped(path)}</code>
      <span>${escaped(operation.summary)}</span></summary>
    ${operation.description ? `<p>${escaped(operation.description)}</p>` : ''}
    ${scopes?.length ? `<p class="note">Scope: ${[...new Set(scopes)].map(escaped).join(', ')}</p>` : ''}
    ${rows.length ? `<h4>Parameters</h4><div class="wide"><table><tbody>${rows.join('')}</tbody></table></div>` : ''}
    ${body ? `<h4>Body</h4><p>${typeHtml(body, components.schemas)}</p>` : ''}
    <h4>Answers</h4><div class="wide"><table><tbody>${answers.join('')}</tbody></table></div>
    <form class="try" data-method="${method}" data-path="${escaped(path)}" data-body="${body ? '1' : ''}"></form>
  </details>`
}

/** Names of errors lead to what to do about them. @param {string} description */
function errorLinks(description) {
  return escaped(description).replace(/`(\w+)`/g, (_, slug) => `<a href="/docs/errors#${slug}">${slug}</a>`)
}
