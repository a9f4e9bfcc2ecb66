/**
 * A manifest without faults that the tests plant faults in. Not the shipped one: that is the reader's to edit, and a
 * test that looks for its words would turn red with every valid change.
 */
export const SAMPLE = `app:
  id: ari:cloud:ecosystem::app/11111111-2222-4333-8444-555555555555
  runtime:
    name: nodejs24.x

environment:
  variables:
    - key: REMOTE_BASE_URL
      default: https://connector.example.com

modules:
  rovo:agentConnector:
    - key: connector
      name: Sample agent
      description: Says what a work item is about.
      conversationStarters:
        - First starter
        - Second starter
        - Third starter
      productContexts:
        - jira
      protocols:
        agent2Agent:
          version: '1.0'
          pushNotifications: false
          jsonRpcTransport:
            endpoint: a2a
            streaming: true

  trigger:
    - key: lifecycle-trigger
      endpoint: lifecycle
      events:
        - avi:forge:installed:app
        - avi:forge:upgraded:app

  preUninstall:
    - key: pre-uninstall-hook
      endpoint: pre-uninstall

  endpoint:
    - key: a2a
      remote: connector-service
      route:
        path: /rovo/a2a
      auth:
        appUserToken:
          enabled: true
    - key: lifecycle
      remote: connector-service
      route:
        path: /rovo/lifecycle
    - key: pre-uninstall
      remote: connector-service
      route:
        path: /rovo/pre-uninstall

remotes:
  - key: connector-service
    baseUrl: \${REMOTE_BASE_URL}
    operations:
      - compute
      - storage
    storage:
      inScopeEUD: true

permissions:
  scopes:
    - read:jira-work
    - read:app-user-token
`;
