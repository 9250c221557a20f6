/**
 * The reader's part of the reference, in the browser: with a token the page shows the reader's account, and
 * requests can be sent. The token stays in this tab.
 */
import { referenceHtml } from './reference.js'

const kept = 'dealwright-token'
const page = document.querySelector('#reference')
const form = document.querySelector('#token')
const state = document.querySelector('#state')

const headersOf = token => (token ? { authorization: `Bearer ${token}` } : {})
const tokenNow = () => sessionStorage.getItem(kept) ?? ''

async function show() {
  const token = tokenNow()
  if (token) {
    const reply = await fetch('/openapi.json', { headers: headersOf(token) })
    if (!reply.ok) {
      sessionStorage.removeItem(kept)
      state.textContent = (await reply.json()).detail
      return
    }
    page.innerHTML = referenceHtml(await reply.json())
    state.textContent = 'Your account: its fields, and the requests that your token may send.'
    form.querySelector('input').value = ''
  }
  for (const one of page.querySelectorAll('form.try')) fill(one)
  document.querySelector(location.hash || null)?.scrollIntoView()
}

/** The fields of a form that sends a request: one for each id in the path, the query and the body. */
function fill(one) {
  const { path, body } = one.dataset
  const field = (label, control) => {
    const row = document.createElement('label')
    row.append(label, control)
    one.append(row)
    return control
  }
  const input = name => Object.assign(document.createElement('input'), { name, autocomplete: 'off' })
  for (const [, name] of path.matchAll(/\{(\w+)\}/g)) field(name, input(name)).required = true
  field('Query', Object.assign(input('query'), { placeholder: 'such as pageSize=5' }))
  if (body)
    field('Body', Object.assign(document.createElement('textarea'), { name: 'body', rows: 5, value: '{}' }))
  const send = Object.assign(document.createElement('button'), { textContent: 'Send' })
  const answer = document.createElement('pre')
  answer.hidden = true
  answer.setAttribute('aria-live', 'polite')
  one.append(send, answer)
  one.addEventListener('submit', async event => {
    event.preventDefault()
    const values = new FormData(one)
    const real = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values.get(name)))
    const query = values.get('query').trim().replace(/^\?/, '')
    const reply = await fetch(real + (query ? `?${query}` : ''), {
      method: one.dataset.method.toUpperCase(),
      headers: { ...headersOf(tokenNow()), ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: values.get('body') } : {}),
    })
    const text = await reply.text()
    answer.hidden = false
    answer.textContent = `${reply.status} ${reply.statusText}\n${pretty(text)}`
  })
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

form.addEventListener('submit', event => {
  event.preventDefault()
  sessionStorage.setItem(kept, form.querySelector('input').value.trim())
  show()
})
show()
// A link within this page leaves the menu of a phone open over what it leads to.
document.querySelector('#pages').addEventListener('click', event => event.currentTarget.hidePopover())
