-- needs: rules/words.sql
-- Editions of a rulebook: what goes with one that is removed.

create or replace function rules._forget_orphans(ruleset text)
returns void
language plpgsql
as $$
begin
  delete from public.rule
  where rule.ruleset = _forget_orphans.ruleset
    and rule.digest = ''
    and not exists (select from public.edition_rule where edition_rule.rule_id = rule.id)
    and not exists (select from public.erratum where erratum.rule_id = rule.id);
end
$$;

comment on function rules._forget_orphans(text) is
'Drop rules that neither our digests nor any edition has, unless an erratum hangs on them.';

create or replace function rules.remove_edition(ruleset text, edition text)
returns void
language plpgsql
-- with its owner's rights: nobody else deletes rules
security definer
set search_path = public, pg_temp
as $$
begin
  delete from public.rulebook
  where rulebook.ruleset = remove_edition.ruleset
    and rulebook.edition = remove_edition.edition;
  perform rules._forget_orphans(remove_edition.ruleset);
  perform rules.refresh();
end
$$;

comment on function rules.remove_edition(text, text) is
'Take an edition out of the database, with the rules that it alone has.';
