import { Outlet } from '@tanstack/react-router'
export function Settings() {
  return <Outlet />
}
export function SettingsPage() {
  return <main className="p-4">Settings</main>
}
