"""The portal's forms. CSRF is checked for every form by the portal's guard."""
