-- Errata and house rules that hold on a day, for rulings and for searches.

create or replace function rules.in_force(ruleset text, day date default current_date)
returns jsonb
language sql stable
as $$
  select jsonb_agg(
    jsonb_build_object(
      'id', erratum.id,
      'kind', erratum.kind,
      'rule', rule.number,
      'clause', erratum.clause,
      'since', erratum.since,
      'source', erratum.source,
      'effect', erratum.effect,
      'point', erratum.point,
      'reading', erratum.reading
    )
    order by rule.path, erratum.since, erratum.id
  )
  from public.erratum
  inner join public.rule on rule.id = erratum.rule_id
  where rule.ruleset = in_force.ruleset
    and erratum.withdrawn_at is null
    and erratum.since <= in_force.day
    and (erratum.ends is null or erratum.ends > in_force.day)
$$;

comment on function rules.in_force(text, date) is
'Errata and house rules of a game that hold on a day, as one JSON list in the order of the rules; null where none does.';
