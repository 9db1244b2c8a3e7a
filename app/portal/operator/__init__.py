"""Screens of the platform's operator: suspending partners, their trials, and stored mails."""
